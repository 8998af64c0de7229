"""Into and out of relift: files, and the calling conventions of other libraries."""
