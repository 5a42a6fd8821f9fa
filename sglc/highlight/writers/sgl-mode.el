;;; sgl-mode.el --- Major mode for SGL  -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "27.1"))
;; Keywords: languages

;;; Commentary:

;; Made by `python -m sglc.highlight`; edit sglc/highlight instead.
;; Colours, comments, indentation, and the language server `sglc lsp` for `M-x eglot`.

;;; Code:

(eval-when-compile (require 'subr-x))

(defgroup sgl nil "Programs of SGL." :group 'languages)

(defcustom sgl-indent-offset 4 "Columns that a block stands deeper." :type 'integer :safe #'integerp)

(defconst sgl--lists
  '(@LISTS@)
  "Lists of rules by name: names of other lists, or (REGION KINDS . PLAN).")

(defconst sgl--regions
  '(@REGIONS@)
  "Regions: (NAME LIST INSIDE LINE KINDS PLAN-OF-END).")

(defconst sgl--faces
  '(@FACES@)
  "The face of each class of text.")

(defvar sgl--groups (make-vector 64 nil) "Where the groups of the last plan begin and end.")

(defvar sgl--flat nil "Lists of rules with those that they include in place.")

(defun sgl--rules (name)
  "The rules of the list NAME."
  (or (alist-get name sgl--flat)
      (let ((rules (apply #'append
                          (mapcar (lambda (rule) (if (symbolp rule) (sgl--rules rule) (list rule)))
                                  (alist-get name sgl--lists)))))
        (push (cons name rules) sgl--flat)
        rules)))

(defun sgl--follow (plan)
  "Follow PLAN from point; move point behind it, or return nil."
  (let ((going t))
    (while (and going plan)
      (setq going (sgl--step (car plan))
            plan (cdr plan)))
    going))

(defun sgl--step (step)
  "Follow one STEP of a plan from point."
  (if (stringp step)
      (and (looking-at step) (progn (goto-char (match-end 0)) t))
    (let ((start (point)) (rest (cdr step)))
      (pcase (car step)
        ('all (sgl--follow rest))
        ('group
         (and (sgl--follow (cdr rest))
              (progn (aset sgl--groups (car rest) (cons start (point))) t)))
        ('or
         (let ((found nil))
           (while (and rest (not found))
             (goto-char start)
             (setq found (sgl--follow (car rest))
                   rest (cdr rest)))
           found))
        ('ahead (prog1 (save-excursion (sgl--follow rest)) (goto-char start)))
        ('ahead-not (prog1 (not (save-excursion (sgl--follow rest))) (goto-char start)))
        ('behind (sgl--behind start (car rest) (cdr rest)))
        ('behind-not (not (sgl--behind start (car rest) (cdr rest))))))))

(defun sgl--behind (start width plan)
  "Whether PLAN leads over WIDTH characters to START, in its line; point stays."
  (let ((from (- start width)))
    (prog1 (and (>= from (line-beginning-position))
                (progn (goto-char from) (sgl--follow plan))
                (= (point) start))
      (goto-char start))))

(defun sgl--find (plan)
  "Follow PLAN from point; the end of what it found, or nil. Point stays."
  (fillarray sgl--groups nil)
  (let ((start (point)))
    (prog1 (and (sgl--follow plan) (point))
      (goto-char start))))

(defun sgl--put (start end kind)
  "Give the text from START to END the class KIND."
  (when (and kind (< start end))
    (put-text-property start end 'sgl-kind kind)
    (let ((face (alist-get kind sgl--faces)))
      (when face (put-text-property start end 'face face)))))

(defun sgl--take (end kinds plain)
  "Colour groups of the last plan as KINDS, the rest up to END as PLAIN.
Go to END."
  (sgl--put (point) end plain)
  (let ((number 1))
    (dolist (kind kinds)
      (let ((span (aref sgl--groups number)))
        (when span (sgl--put (car span) (cdr span) (or kind plain))))
      (setq number (1+ number))))
  (goto-char end))

(defun sgl--colour-line (stack)
  "Colour the line at point, before which the regions STACK are open.
Return those that are open behind it."
  (let ((limit (line-end-position)))
    (while (< (point) limit)
      (let* ((region (and stack (assq (car stack) sgl--regions)))
             (plain (nth 2 region))
             (end (and region (sgl--find (nth 5 region)))))
        (if end
            (progn (sgl--take (min end limit) (nth 4 region) plain)
                   (setq stack (cdr stack)))
          (let ((rules (sgl--rules (if region (nth 1 region) 'root))) (matched nil))
            (while (and rules (not matched))
              (let* ((rule (car rules)) (found (sgl--find (nth 2 rule))))
                (when (and found (or (car rule) (> found (point))))
                  (sgl--take (min found limit) (nth 1 rule) plain)
                  (when (car rule) (push (car rule) stack))
                  (setq matched t)))
              (setq rules (cdr rules)))
            (unless matched
              (sgl--put (point) (1+ (point)) plain)
              (forward-char))))))
    (while (and stack (nth 3 (assq (car stack) sgl--regions)))
      (setq stack (cdr stack)))
    stack))

(defconst sgl--top-level
  "^\\(?:pub\\|fn\\|record\\|enum\\|union\\|test\\|use\\|const\\|grammar\\|extern\\|import\\|type\\|error\\|pure\\|part\\|aside\\)\\b"
  "Where a declaration begins, outside of all regions.")

(defun sgl--fontify (start end &optional _loudly)
  "Colour all lines from START to END.
Begin at the declaration before, where no region is open."
  (save-excursion
    (save-restriction
      (widen)
      (with-silent-modifications
        (goto-char start)
        (end-of-line)
        (unless (re-search-backward sgl--top-level nil t)
          (goto-char (point-min)))
        (let ((from (point)) (stack nil) (case-fold-search nil) (inhibit-point-motion-hooks t))
          (goto-char end)
          (end-of-line)
          (let ((to (point)))
            (remove-text-properties from to '(face nil sgl-kind nil))
            (goto-char from)
            (while (< (point) to)
              (setq stack (sgl--colour-line stack))
              (forward-line)))
          `(jit-lock-bounds ,from . ,end))))))

(defun sgl-indent-line ()
  "Indent a line as deep as the one above, and deeper below a colon."
  (interactive)
  (let ((column (save-excursion
                  (beginning-of-line)
                  (if (re-search-backward "^[ ]*[^ \n]" nil t)
                      (+ (current-indentation)
                         (if (looking-at "[ ]*[^|\n].*:[ ]*\\(?:#.*\\)?$\\|[ ]*|?:$") sgl-indent-offset 0))
                    0))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to column)
      (save-excursion (indent-line-to column)))))

(defvar sgl-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?_ "w" table)
    (modify-syntax-entry ?# "." table)
    (modify-syntax-entry ?\" "." table)
    table)
  "Letters and `_' are words; texts and comments are told by the rules.")

;;;###autoload
(define-derived-mode sgl-mode prog-mode "SGL"
  "Major mode for programs of SGL."
  (setq-local comment-start "# ")
  (setq-local comment-start-skip "#+[ \t]*")
  (setq-local indent-tabs-mode nil)
  (setq-local indent-line-function #'sgl-indent-line)
  (setq-local font-lock-defaults '(nil t))
  (setq-local font-lock-fontify-region-function #'sgl--fontify))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.sgl\\'" . sgl-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(sgl-mode . ("sglc" "lsp"))))

(provide 'sgl-mode)

;;; sgl-mode.el ends here
