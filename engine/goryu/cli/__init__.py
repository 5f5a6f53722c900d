"""Commands at a terminal: `goryu play`, `analyze`, `tree`, `convert`, `check-model` and `doctor`."""
