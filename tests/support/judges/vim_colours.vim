" Writes the class of each run of characters of each file of a list, as lines `FILE`, then `LINE COLUMN GROUP`.
set nocompatible encoding=utf-8 redrawtime=100000
syntax on
let s:out = []
for s:file in readfile($SGL_LIST)
  execute 'edit ' . fnameescape(s:file)
  setfiletype sgl
  call add(s:out, s:file)
  for s:line in range(1, line('$'))
    let s:last = ''
    let s:text = getline(s:line)
    let s:column = 1
    while s:column <= strlen(s:text)
      let s:group = synIDattr(synID(s:line, s:column, 1), 'name')
      if s:group !=# s:last
        call add(s:out, s:line . ' ' . s:column . ' ' . s:group)
        let s:last = s:group
      endif
      let s:column += strlen(matchstr(s:text, '.', s:column - 1))
    endwhile
  endfor
  bwipeout!
endfor
call writefile(s:out, $SGL_OUT)
call writefile(split(execute("messages"), "\n"), $SGL_OUT . ".messages")
qall!
