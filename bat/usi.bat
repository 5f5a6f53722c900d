@echo off
setlocal
cd /d "%~dp0.."
if errorlevel 1 exit /b 1
set "PY=%CD%\.venv\Scripts\python.exe"
if not exist "%PY%" goto missing
"%PY%" -X utf8 -u -m goryu %* 2>NUL
exit /b %ERRORLEVEL%
:missing
echo info string Error! run bat\setup.bat first
exit /b 1
