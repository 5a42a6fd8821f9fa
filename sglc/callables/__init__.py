"""What programs call besides their own functions, as data: functions of Python, and the text of tools."""
