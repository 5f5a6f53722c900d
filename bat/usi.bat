@echo off
setlocal
cd /d "%~dp0.."
if errorlevel 1 exit /b 1
set "PY=%CD%\.venv\Scripts\python.exe"
if not exist "%PY%" goto missing
if not defined GORYU_OPTIONS set "GORYU_OPTIONS=%~dp0engine_options.txt"
"%PY%" -X utf8 -u -m goryu %* 2>NUL
exit /b %ERRORLEVEL%
:missing
echo info string Error! run bat\setup.bat first
exit /b 1
