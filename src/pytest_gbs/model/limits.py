"""How much of anything is read. Every bound on what a file may ask of a check is a constant here, and a row of `docs/limits.md`.

A comment on a line of its own starts a table of that page. The comment behind a constant is its row: what is counted, and after the
semicolon what happens beyond it; UNREADABLE and UNREAD stand for the codes of the rules about files and scripts that were not read.
`python -m tools.generate_docs` writes the page. The limits of shell scripts are in `shell/limits.py`, in the same notation.
"""

from __future__ import annotations

from pytest_gbs.model.record import Final

# Any file
MOST_FILE_BYTES: Final = 5_000_000  # bytes of a file; a larger one is UNREADABLE, and `max-file-size` in the settings raises the limit
MOST_LINES: Final = 200_000  # lines of a YAML, JSON or TOML file; a longer one is UNREADABLE

# YAML, JSON and TOML
DEEPEST_DOCUMENT: Final = 200  # levels of mappings and lists, parts of a dotted key; a deeper one is UNREADABLE
MOST_NODES: Final = 200_000  # keys and values of a file (in YAML parser events, in TOML escapes too); a larger one is UNREADABLE
MOST_DOCUMENTS: Final = 500  # YAML documents in one file; UNREADABLE points to the next one
MOST_MERGED_KEYS: Final = 10_000  # keys that merge keys (`<<`) bring in; more are UNREADABLE
MOST_FOLLOWED_KEYS: Final = 20_000  # keys reached through aliases; those nested most deeply are not read
MOST_OUTLINED: Final = 5_000  # lines with a key of a file that can't be read; it is known by those before them alone
MOST_RECIPE_KEYS: Final = 10_000  # keys of a recipe; a file with more, a vocabulary say, is not one
LONGEST_NUMBER: Final = 32  # characters of a number; a longer one is read as text
LONGEST_BARE_VALUE: Final = 1_000  # characters of a TOML value without quotes; a longer one is UNREADABLE
MOST_STAGES: Final = 100  # stages of a batch size schedule; the batch of a longer one is unknown
LONGEST_SCHEDULE: Final = 2_000  # characters of a schedule written as text; the rest is not read
LONGEST_JSON_TEXT: Final = 10_000  # characters of a value that is a JSON object in quotes; a longer one stays text

# Comments
MOST_STATEMENTS: Final = 2_000  # batch and hardware sizes that comments state; UNREADABLE points to where reading ends
MOST_COMMENT_CHARACTERS: Final = 200_000  # characters of comments with a number; UNREADABLE points to where reading ends
LONGEST_COMMENT: Final = 20_000  # characters of one comment; a claim behind them is not read
MOST_WORDS: Final = 400  # words, numbers and signs of a sentence; a claim behind them is not read
MOST_DIGITS: Final = 15  # digits of a number; a longer one is not a size
LARGEST_PRODUCT: Final = 10**18  # a product, and each step on the way to it; arithmetic beyond that is not checked
MOST_POWER: Final = 64  # the exponent of a power in a program; what one with a larger one gives is unknown
DEEPEST_BRACKETS: Final = 4  # brackets within each other in arithmetic; deeper arithmetic is not checked
LONGEST_PROSE: Final = 200_000  # characters of a document; what a longer one states is not read
MOST_SECTIONS: Final = 500  # sections of a document; what one with more of them states is not read
MOST_STATED: Final = 500  # batch and hardware sizes that a document states; what one with more of them states is not read
MOST_SUBJECTS: Final = 8  # recipes and launches that a statement of a document may be about; it is about none of more
MOST_CLAIMS_OF_LAUNCH: Final = 20  # claims of a recipe that each of its launches is compared with; later ones are about the recipe alone
MOST_SUPPRESSIONS: Final = 500  # `gbs: ignore` comments of a file; those behind them silence nothing
MOST_SUPPRESSIONS_ON_A_LINE: Final = 20  # `gbs: ignore` comments on one line; those behind them silence nothing

# Configurations made of several files, and interpolation
MOST_COMPOSED: Final = 50_000  # values of a composed configuration, copies counted; a larger one is UNREADABLE
LEAST_COMPOSED: Final = 4_000  # values that each may have, however many configurations the tree has; a larger one may be UNREADABLE
ALL_COMPOSED: Final = 1_000_000  # values that all of them may have together, beyond that; each has its part, and a larger one is UNREADABLE
DEEPEST_COMPOSED: Final = 100  # levels of a composed configuration; a deeper one is UNREADABLE
MOST_COMPOSED_TEXT: Final = 2_000_000  # characters of its values; a larger one is UNREADABLE
MOST_DEFAULTS: Final = 500  # entries of Hydra defaults lists; a configuration with more is UNREADABLE
DEEPEST_DEFAULTS: Final = 50  # defaults lists that name each other; a deeper configuration is UNREADABLE
MOST_PARENTS: Final = 200  # files that a file inherits from; the rest is not read
DEEPEST_PARENTS: Final = 40  # files that inherit from each other; the rest is not read
MOST_RESOLVERS: Final = 50  # functions that a program registers with OmegaConf; what those behind them give is unknown
LONGEST_FUNCTION: Final = 300  # characters of one, and of the text that `eval` gets there; what a longer one gives is unknown
LONGEST_TEXT: Final = 10_000  # characters of a text that a program puts together; a longer one is unknown
LONGEST_INTERPOLATION: Final = 10_000  # characters of a value with `${...}`, before and after; the value of a longer one is unknown
MOST_INTERPOLATED: Final = 100_000  # characters of all values with `${...}` in a configuration; one with more is UNREADABLE
DEEPEST_INTERPOLATION: Final = 30  # interpolations within each other; the value of a deeper one is unknown
DEEPEST_CHAIN: Final = 40  # interpolations that lead to interpolations; the value of a longer chain is unknown
MOST_EXPANDED: Final = 10_000  # values that one interpolation includes; the value of a larger one is unknown
LONGEST_OVERRIDE: Final = 20_000  # characters of a Hydra override; a longer one is not understood
DEEPEST_OVERRIDE: Final = 50  # brackets within each other in a Hydra override; a deeper one is not understood

# Python programs and notebooks
LONGEST_PYTHON: Final = 1_000_000  # characters of a program, of a notebook without outputs; what a longer one sets or imports is not known
MOST_PYTHON_WORDS: Final = 200_000  # words and signs of a program; what one with more of them sets or imports is not known
MOST_PYTHON_BRACES: Final = 20_000  # opening braces of a program; what one with more of them sets or imports is not known
MOST_KEPT_PYTHON: Final = 200_000  # words and signs of programs that are kept for other launches; older ones are parsed again
MOST_EVALUATED: Final = 50_000  # expressions of a program that are looked at, keys and values of its recipes; later ones are not known
MOST_BINDINGS: Final = 100  # assignments of a name, calls of a function, options of a name; with more, what they give is unknown
DEEPEST_EXPRESSION: Final = 40  # names that lead to names, and expressions within each other; the value of a deeper one is unknown
MOST_TRAINERS: Final = 50  # calls that set a batch in a program that is launched; what a launch of one with more trains is unknown
MOST_FACTORS: Final = 40  # factors of the batch that a program computes; the rest is not looked at
MOST_IMPORTED_MODULES: Final = 20  # files of its repository that a program imports; what a later one does is unknown
MOST_HANDED_THROUGH: Final = 3  # functions that hand a configuration or options on; what further ones do with it is not known
LONGEST_LOADED: Final = 100_000  # characters of a YAML or JSON file that a program loads by its name; what a longer one gives is unknown
MOST_TRAINING_RECORDS: Final = 50  # batches that a notebook's saved outputs print; later ones are not compared with its source
LONGEST_RECORD: Final = 1_500  # characters of an output around such a batch; what is further away says nothing of it
MOST_SCHEDULES: Final = 20  # learning-rate schedules of a program; a later one is not read

# Settings, and the tool's own files
MOST_SETTINGS_BYTES: Final = 200_000  # bytes of a settings file; a larger one is a usage error
MOST_OWN_FRAMEWORKS: Final = 100  # frameworks that settings describe or name files of; more are an error in the settings
DEEPEST_SETTINGS: Final = 50  # levels of tables and lists; deeper settings are a usage error
MOST_PATTERNS: Final = 1_000  # path patterns in all settings, each spelling of `{a,b}` counted; more are an error in the settings
MOST_PATTERN_CHARACTERS: Final = 100_000  # characters of those patterns; more are an error in the settings
MOST_SPELLINGS: Final = 64  # spellings that the braces of one pattern make; more are an error in the settings
MOST_POINTER_BYTES: Final = 4_096  # bytes of the file `.git` of a worktree; a larger one says nothing of its index
MOST_INDEX_BYTES: Final = 30_000_000  # bytes of git's index, and of its names; with more, tracked files that are ignored are left out
MOST_IGNORE_BYTES: Final = 500_000  # bytes of a `.gitignore`; a larger one is not read
MOST_WILD_PATTERNS: Final = 500  # lines with `*`, `?`, `[` or a backslash in a `.gitignore`; later ones leave nothing out
MOST_WILD_CHARACTERS: Final = 50_000  # characters of those lines; later ones leave nothing out
MOST_KNOWN: Final = 1_000_000_000  # findings of one kind in a baseline; a larger number is a usage error
LARGEST_LOCKED: Final = 10**12  # a number in `gbs.lock`; a larger one is a usage error
LONGEST_LOCK_LINE: Final = 10_000  # characters of a line of `gbs.lock`; a longer one is a usage error

# Descriptions of your own frameworks
MOST_ROWS: Final = 5_000  # keys that a description stands for; more are an error in the settings
MOST_DESCRIBED: Final = 20_000  # values of a description and its variants, written out; more are an error in the settings
MOST_VARIANTS: Final = 50  # variants; more are an error in the settings
MOST_VERSIONS: Final = 20  # versions in one description; more are an error in the settings
MOST_ALIKE: Final = 10  # readings that are each like the next; a longer chain is a usage error
MOST_INHERITED: Final = 20  # tables that one inherits from; more are an error in the settings
DEEPEST_INHERITED: Final = 9  # descriptions that inherit from each other; a longer chain is a usage error
DEEPEST_WORDS: Final = 9  # abbreviations within each other; deeper ones are not written out
LONGEST_WORDS: Final = 10_000  # characters of a text with abbreviations written out; a longer one is a usage error
MOST_WORD_CHARACTERS: Final = 5_000_000  # characters of all such texts of a description; more are an error in the settings

# Launches
MOST_UNMARKED: Final = 10_000  # files and folders of one that nothing marks; in a larger one launches are sought near what is named
MOST_LAUNCHES: Final = 400  # launches of a script; UNREAD points to the rest
MOST_LAUNCHED_VALUES: Final = 400_000  # values composed anew for launches, in the whole check; UNREAD says where they end
MOST_STARTED: Final = 200  # scripts that a script starts, and those that they start; UNREAD points to the rest
MOST_NAMES_COMPARED: Final = 5_000_000  # names of files that those missing are compared with, in the whole check; more are not looked for
MOST_PROGRAMS_SEARCHED: Final = 5_000  # Python programs in which overrides of a recipe are looked for; the rest is not looked at
MOST_HOSTS: Final = 10_000  # hosts in a hostfile of deepspeed; the GPUs of one with more are unknown
DEEPEST_STARTED: Final = 3  # scripts that start each other; what is deeper is UNREAD
MOST_GREPPED: Final = 400  # recipes that a script with a variable for its recipe may search; the rest is not looked at
MOST_COPIED: Final = 1_000  # files and folders that a Dockerfile copies; where those behind them lie is not known
MOST_DOCKERFILES: Final = 20  # Dockerfiles below a folder that may have built the image of a job; of more it is not known which did
MOST_CANDIDATES: Final = 200  # recipes that a name with a variable in it may stand for; the rest is not looked at
MOST_DEEPY_FILES: Final = 50  # configuration files of one `deepy.py` command; a command with more is not checked
MOST_THIN_STATEMENTS: Final = 25  # statements of a program that only starts another one; what a larger one imports is not looked into
MOST_IMPORTED_PATHS: Final = 200  # paths at which such a program may have what it imports; the rest is not looked at
MOST_IMPORTS: Final = 5_000  # names that a program and its own files import; what one with more of them starts is not known
MOST_HANDED_ON: Final = 4  # modules that hand on a function that parses arguments, and such functions; what others parse is not known
MOST_PROGRAM_FILES: Final = 200  # files of a program that may train on several GPUs by itself; with more, its GPUs are unknown

# Git revisions
MOST_TREE_ENTRIES: Final = 500_000  # files and folders of a commit; a larger one is a usage error
MOST_TREE_BYTES: Final = 100_000_000  # bytes of what git lists of a commit; a larger one is a usage error
DEEPEST_FOLDER: Final = 200  # folders within each other; files deeper than that are left out
MOST_COMMITS: Final = 1_000  # commits whose messages are searched for a declared change of the batch; older ones are not read
LONGEST_DIFF: Final = 65_000  # characters of `gbs diff --format markdown` (GitHub takes 65,536); the smallest changes are left out
MOST_REPORTED_COMMITS: Final = 40  # commits that `gbs report --since` looks at, spread evenly; the others are left out
MOST_MESSAGE_BYTES: Final = 5_000_000  # bytes of those messages; the rest is not read
MOST_GIT_SECONDS: Final = 120  # seconds that one git command may take; a longer one is a usage error
MOST_REVISION_SECONDS: Final = 20  # seconds that git may take to say what a revision means; a longer one is a usage error
MOST_INCLUDED: Final = 50  # files of git's settings, those that they include counted; later ones are not searched for pipes
MOST_GIT_FILES: Final = 100_000  # files of a git folder that are searched for pipes and devices; git may wait for those behind them

# What a script may launch that was not read to its end
MOST_SEARCHED_BYTES: Final = 10_000_000  # bytes of a too large script that are searched for programs; a larger one may launch training
MOST_NAME_PATTERNS: Final = 200  # file names with variables in them; a script with more may launch every recipe
LONGEST_NAME_PATTERN: Final = 1_000  # characters of such a name; of a longer one only the end is looked at

# Comparing and fixing
MOST_COMPARED: Final = 40_000  # pairs of a deleted and a new file that are compared to find renames; beyond it only equal names are
MOST_FIX_TRIES: Final = 200  # times that `--fix` checks the files with some of the fixes; what is left is reported and not fixed
MOST_FILES_TRIED: Final = 10_000  # files and launches that it so checks again in all tries; it may try LEAST_FIX_TRIES times all the same
LEAST_FIX_TRIES: Final = 20  # times that it checks the files, however many these are; what is left is reported and not fixed
MOST_REREAD_CHARACTERS: Final = 1_000_000  # characters of a file that a fix is read again with; a longer file is not fixed
