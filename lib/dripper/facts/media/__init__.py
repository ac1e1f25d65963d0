"""Reads images, videos and audio: addresses, captions, roles, known players."""
