@echo off
setlocal
cd /d "%~dp0.."
if errorlevel 1 exit /b 1
set "PY=%CD%\.venv\Scripts\python.exe"
if not exist "%PY%" goto missing
"%PY%" tools\dev.py %*
exit /b %ERRORLEVEL%
:missing
echo run bat\setup.bat first
exit /b 1
