server & # detached-spawn: ok - waited for below
# detached-spawn: ok — with an em dash
nohup server
