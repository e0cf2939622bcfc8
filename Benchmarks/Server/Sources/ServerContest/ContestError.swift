/// An error that ends the program with a sentence.
struct ContestError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
