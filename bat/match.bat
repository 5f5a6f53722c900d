@echo off
setlocal
cd /d "%~dp0.."
if errorlevel 1 exit /b 1
set "PY=%CD%\.venv\Scripts\python.exe"
if not exist "%PY%" goto missing
set "DEFAULT="
if "%~1"=="" set "DEFAULT=--help"
if "%~1"=="" echo match.bat plays a match between two engines; type its options after the name
"%PY%" tools\dev.py match %DEFAULT% %*
set "STATUS=%ERRORLEVEL%"
pause
exit /b %STATUS%
:missing
echo run bat\setup.bat first
pause
exit /b 1
