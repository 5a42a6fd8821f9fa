"""Conversations as models read them: text by roles, its tokens, and views of other models."""
