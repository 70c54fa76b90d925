#!/bin/sh
# nohup server & in a comment
RUNNER=nohup
PREFIX="sudo setsid"
options="--user"

setsid server # finds: detaching-command
setsid -w server # finds: detaching-command
nohup server > log # finds: detaching-command
/usr/bin/nohup server # finds: detaching-command
"nohup" server # finds: detaching-command
server & # finds: background-job
server \
    --port 1 & # finds: background-job
(server; other) & # finds: background-job
disown # finds: detaching-command
systemd-run $options server # finds: detaching-command
start-stop-daemon --start --background --exec server # finds: detaching-command
start-stop-daemon -S -b -x server # finds: detaching-command
sudo -u user nohup server # finds: detaching-command
env -i A=1 setsid server # finds: detaching-command
exec setsid server # finds: detaching-command
A=1 B=2 nohup server # finds: detaching-command
$RUNNER server # finds: detaching-command
${RUNNER} server # finds: detaching-command
$PREFIX server # finds: detaching-command
sh -c 'server &' # finds: background-job
bash -lc "nohup $1" # finds: detaching-command
su user -c "setsid server" # finds: detaching-command
sh -c "$1" # finds: unknown-command?
if true; then nohup server; fi # finds: detaching-command
x=$(nohup server) # finds: detaching-command
function start { setsid server; } # finds: detaching-command
timeout -s TERM 5 setsid server # finds: detaching-command
echo x | xargs -n 1 nohup # finds: detaching-command
for name in a b; do server "$name" & done # finds: background-job

echo setsid nohup '&' "server &" disown
server && other
server > log 2>&1
server &> log
server 2>&- | other |& third
command -v setsid > /dev/null || which nohup
type disown
start-stop-daemon --stop --exec server
echo $((a & b))
case $1 in
    'a&b') echo nohup ;;
    nohup) echo setsid ;;
esac
cat << 'END'
nohup server &
setsid server
END
cat << END
nohup $x &
END
man nohup
setsid_helper=1
grep -q 'x &' file
