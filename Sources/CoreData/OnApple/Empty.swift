// Apple's platforms have Core Data.
