"""What all protocols share: the way to a service, its faults, the text of answers, chat completions."""
