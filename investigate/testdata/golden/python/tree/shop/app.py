from .retry import RetryPolicy, run


def main():
    # def RetryPolicy(): this is only a comment
    return run(RetryPolicy(2.0), order)


def order():
    return "RetryPolicy()"


if __name__ == "__main__":
    main()
