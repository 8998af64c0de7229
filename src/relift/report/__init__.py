"""What people read at the end: tables of sizes, times and residuals."""
