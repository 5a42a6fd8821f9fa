"""How the machine fills a hole: a mock, a random walk or the model."""
