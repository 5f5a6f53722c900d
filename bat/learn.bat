@echo off
setlocal
cd /d "%~dp0.."
if errorlevel 1 exit /b 1
set "PY=%CD%\.venv\Scripts\python.exe"
if not exist "%PY%" goto missing
set "DEFAULT="
if "%~1"=="" set "DEFAULT=tictactoe"
if "%~1"=="" echo learn.bat GAME trains a network of a small game from nothing; now it is tictactoe
"%PY%" tools\dev.py learn %DEFAULT% %*
set "STATUS=%ERRORLEVEL%"
pause
exit /b %STATUS%
:missing
echo run bat\setup.bat first
pause
exit /b 1
