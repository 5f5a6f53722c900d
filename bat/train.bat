@echo off
setlocal
cd /d "%~dp0.."
if errorlevel 1 exit /b 1
set "PY=%CD%\.venv\Scripts\python.exe"
if not exist "%PY%" goto missing
set "DEFAULT="
if "%~1"=="" set "DEFAULT=--help"
if "%~1"=="" echo train.bat trains a shogi network; type its options after the name
"%PY%" tools\dev.py train %DEFAULT% %*
set "STATUS=%ERRORLEVEL%"
pause
exit /b %STATUS%
:missing
echo run bat\setup.bat first
pause
exit /b 1
