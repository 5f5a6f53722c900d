@echo off
setlocal
cd /d "%~dp0.."
if errorlevel 1 exit /b 1
set "PY=py -3"
%PY% --version >NUL 2>NUL
if errorlevel 1 set "PY=python"
%PY% --version >NUL 2>NUL
if errorlevel 1 goto missing
%PY% tools\dev.py setup %*
set "STATUS=%ERRORLEVEL%"
pause
exit /b %STATUS%
:missing
echo Python was not found: install Python 3.11 or newer, 64 bit, from python.org, then run this again
pause
exit /b 1
