" Made by `python -m sglc.highlight`; edit sglc/highlight instead.
if exists("b:did_ftplugin")
  finish
endif
let b:did_ftplugin = 1

setlocal comments=b:##,b:# commentstring=#\ %s
setlocal expandtab shiftwidth=4 softtabstop=4
setlocal formatoptions-=t formatoptions+=croql
setlocal suffixesadd=.sgl
let b:undo_ftplugin = "setlocal comments< commentstring< expandtab< shiftwidth< softtabstop< formatoptions<"
let b:undo_ftplugin .= " suffixesadd<"
