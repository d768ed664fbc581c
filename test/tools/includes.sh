#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# includes.sh FOLDER: every #include between headers of include/sinter is one that doc/includes.txt
# allows, and the table names the folders that there are, lower ones first.
set -u
cd "$1" || exit 1
table=doc/includes.txt
[ -f "$table" ] || { echo "$1 has no $table"; exit 1; }
grep -rHoE '^ *# *include *[<"]sinter/[^>"]+' include/sinter --include=*.hpp |
    sed -E 's#^include/sinter/##; s#: *\# *include *[<"]sinter/# #' | awk -v table="$table" '
    function complain(text) { print text; bad = 1 }
    function storey(path) { return path ~ /\// ? substr(path, 1, index(path, "/") - 1) : "" }
    # The folder of a path within a folder: the next part of the path, or nothing if the file lies in the folder itself.
    function folder_of(path, folder,   rest) {
        if (index(path, folder "/") != 1) return "-"
        rest = substr(path, length(folder) + 2)
        return rest ~ /\// ? substr(rest, 1, index(rest, "/") - 1) : ""
    }
    BEGIN {
        while ((getline line < table) > 0) {
            if (line ~ /^#/ || line !~ /:/) continue
            name = substr(line, 1, index(line, ":") - 1)
            n = split(substr(line, index(line, ":") + 1), listed, " ")
            if (name ~ /\//) {   # folders in their order
                folders[++n_folders] = name
                for (i = 1; i <= n; ++i) place[name, listed[i]] = i
                continue
            }
            known[name] = 1
            allowed[name, name] = 1
            for (i = 1; i <= n; ++i) {
                if (!(listed[i] in known))
                    complain(table ": " name " may include " listed[i] ", which does not stand before it")
                allowed[name, listed[i]] = 1
            }
        }
        while (("find include/sinter -mindepth 1 -maxdepth 1 -type d -printf \"%f\\n\"" | getline folder) > 0) {
            there[folder] = 1
            if (!(folder in known)) complain(table " does not name include/sinter/" folder)
        }
        for (name in known)
            if (!(name in there)) complain(table " names " name ", and there is no include/sinter/" name)
    }
    {
        ++checked
        from = storey($1); to = storey($2)
        if (from != "" && to == "") complain($1 " includes " $2 ", which is for users")
        else if (from != "" && !((from, to) in allowed)) complain($1 " includes " $2 ": " from " may not include " to)
        for (i = 1; i <= n_folders; ++i) {
            a = folder_of($1, folders[i]); b = folder_of($2, folders[i])
            if (a == "-" || b == "-") continue
            if (a != "" && !((folders[i], a) in place)) complain(table " does not name " folders[i] "/" a)
            if (folders[i] == "kernel/cpu" && a == "") continue
            if (b != "" && (a == "" || place[folders[i], a] < place[folders[i], b]))
                complain($1 " includes " $2 ": " folders[i] "/" b " lies above " \
                         (a == "" ? folders[i] : folders[i] "/" a))
        }
    }
    END {
        if (checked < 500) complain("only " checked " includes were found: this test does not see them")
        exit bad
    }'
