"""The views of the page, by name. To add one, see docs/page.md."""

from base64 import b64encode
from typing import Any

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu_page.session.messages import Language
from goryu_page.session.session import View
from goryu_page.views.devices import DevicesView
from goryu_page.views.explorer import ExplorerView
from goryu_page.views.games import GamesView
from goryu_page.views.microscope import MicroscopeView
from goryu_page.views.opinions import EnginesView
from goryu_page.views.play import PlayView
from goryu_page.views.review import ReviewView
from goryu_page.views.train import TrainView


class SessionView(View):
    """What is common to all views: the language, and the record that the user named on the command line."""

    name = "session"

    def on_alive(self) -> None:
        """Notes that the tab is there, while another one claims its session."""
        self.session.answered.set()

    def on_language(self, language: Language = "en") -> None:
        """Sets the language of messages."""
        self.session.language = language

    def on_file(self) -> dict[str, Any]:
        """Returns name and content (Base64) of the record that the user named on the command line."""
        if self.session.record is None:
            raise InputError(tr("no record was named on the command line; open one from the page"))
        name, content = self.session.record
        return {"name": name, "content": b64encode(content).decode()}


VIEWS: dict[str, type[View]] = {
    view.name: view
    for view in (
        SessionView,
        DevicesView,
        PlayView,
        ReviewView,
        GamesView,
        ExplorerView,
        TrainView,
        MicroscopeView,
        EnginesView,
    )
}
