// The page that `goryu review --html` writes: the panel of the Review view, without a server.

import { ReviewPanel } from "./review-panel.js";
import { show } from "./standalone.js";

show("review", (section, data) => new ReviewPanel(section).load(data));
