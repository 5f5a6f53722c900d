@echo off
setlocal
cd /d "%~dp0.."
if errorlevel 1 exit /b 1
set "PY=%CD%\.venv\Scripts\python.exe"
if not exist "%PY%" goto missing
"%PY%" -X utf8 -m goryu doctor %*
set "STATUS=%ERRORLEVEL%"
pause
exit /b %STATUS%
:missing
echo run bat\setup.bat first
pause
exit /b 1
