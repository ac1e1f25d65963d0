"""From labelled pages to the weights of a labeler; needs the extra `[train]`."""
