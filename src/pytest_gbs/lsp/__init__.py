"""`gbs lsp`: findings, sizes and launches in an editor, from what is typed, over the Language Server Protocol."""
