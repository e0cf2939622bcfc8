print("persist")
