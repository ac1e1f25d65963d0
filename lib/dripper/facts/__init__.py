"""Reads facts about a page from its tree: metadata, language, posts, images and players."""
