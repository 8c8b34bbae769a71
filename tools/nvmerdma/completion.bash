# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completion of nvmerdma(8) for bash.

_nvmerdma_nqns() {
	compgen -W "$(ls /sys/kernel/config/nvmet/"$1" 2> /dev/null)" -- "$2"
}

_nvmerdma_addresses() {
	compgen -W "$(ip -o addr show scope global 2> /dev/null |
		awk '{ sub("/.*", "", $4); print $4 }')" -- "$1"
}

# What follows an option of a command that takes a value; status 1: none does
_nvmerdma_value() { # COMMAND OPTION WORD
	case $1,$2 in stat,--host) return 1 ;; esac
	shift
	case $1 in
	--addr) mapfile -t COMPREPLY < <(_nvmerdma_addresses "$2") ;;
	--host) mapfile -t COMPREPLY < <(_nvmerdma_nqns hosts "$2") ;;
	--dhchap | --textfile) mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
	--sort)
		mapfile -t COMPREPLY < <(compgen -W "name iops read write p50 p99 inflight reconnects
			errors retries waits credits" -- "$2")
		;;
	--by) mapfile -t COMPREPLY < <(compgen -W "controller queue host port thread" -- "$2") ;;
	--forget)
		mapfile -t COMPREPLY < <(compgen -W "$(nvmerdma reconnect --list 2> /dev/null |
			sed 's/ at .*//')" -- "$2")
		;;
	--connected | --device-removed | --deleted)
		mapfile -t COMPREPLY < <(compgen -W "$(ls /sys/class/nvme)" -- "$2")
		;;
	--host-iface) mapfile -t COMPREPLY < <(compgen -W "$(ls /sys/class/net)" -- "$2") ;;
	--nqn | --port | --inline-size | --queue-size | --serial | --uuid | --cntlid | \
	--count | --only | --limit) COMPREPLY=() ;;
	*) return 1 ;;
	esac
}

_nvmerdma() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]} options

	# An address and an NQN have colons, at which bash parts words
	if declare -F _get_comp_words_by_ref > /dev/null; then
		_get_comp_words_by_ref -n : -c word -p before
	fi
	if [ "$COMP_CWORD" = 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "$(nvmerdma --help 2> /dev/null |
			sed -n 's/^  \([a-z]*\) .*/\1/p') --help --version" -- "$word")
		return
	fi
	if ! _nvmerdma_value "$command" "$before" "$word"; then
		case $word in
		-*)
			options=$(nvmerdma "$command" --help 2> /dev/null | grep -o -- '--[a-z-]*' | sort -u)
			mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
			;;
		*)
			case $command in
			export | save | restore) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
			unexport)
				mapfile -t COMPREPLY < <(_nvmerdma_nqns subsystems "$word"
					compgen -f -- "$word")
				;;
			esac
			;;
		esac
	fi
	if declare -F __ltrim_colon_completions > /dev/null; then
		__ltrim_colon_completions "$word"
	fi
}

complete -o filenames -F _nvmerdma nvmerdma
