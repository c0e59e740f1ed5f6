"""What a scheduler takes of memory: real processes that know so many Pods and Runs, and a formula of them."""
