"""What every part of Goryu uses: errors, files, messages in two languages, arguments."""
