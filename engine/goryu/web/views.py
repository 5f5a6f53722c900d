"""The views of the page, by name. To add one, see docs/page.md."""

from base64 import b64encode
from typing import Any

from goryu.base.errors import InputError
from goryu.base.language import tr
from goryu.web.devices import DevicesView
from goryu.web.explorer import ExplorerView
from goryu.web.games import GamesView
from goryu.web.messages import Message, language_of
from goryu.web.microscope import MicroscopeView
from goryu.web.opinions import EnginesView
from goryu.web.play import PlayView
from goryu.web.review import ReviewView
from goryu.web.session import View
from goryu.web.train import TrainView


class SessionView(View):
    """What is common to all views: the language, and the record that the user named on the command line."""

    name = "session"

    def on_alive(self, _message: Message) -> None:
        """Notes that the tab is there, while another one claims its session."""
        self.session.answered.set()

    def on_language(self, message: Message) -> None:
        """Sets the language of messages."""
        self.session.language = language_of(message)

    def on_file(self, _message: Message) -> dict[str, Any]:
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
