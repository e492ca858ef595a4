"""What people state about batches: the grammars that read it, and the judgement of a claim."""
