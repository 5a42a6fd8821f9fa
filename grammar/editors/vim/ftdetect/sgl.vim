" Made by `python -m sglc.highlight`; edit sglc/highlight instead.
autocmd BufNewFile,BufRead *.sgl setfiletype sgl
