"""The Model Context Protocol: every public function a tool, over HTTP and over stdin and stdout."""
