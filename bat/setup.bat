@echo off
setlocal
cd /d "%~dp0.."
set "PY=py -3"
where py >NUL 2>NUL
if errorlevel 1 set "PY=python"
%PY% tools\dev.py setup %*
set "STATUS=%ERRORLEVEL%"
pause
exit /b %STATUS%
