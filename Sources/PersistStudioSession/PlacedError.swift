import Persist

/// An error in a line that the user typed, with its position in this line, from 0.
struct PlacedError: Error {
  let error: PersistenceError
  let column: Int?
}
