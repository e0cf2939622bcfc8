import Logging

extension ManagedObject {
  /// Receives the log lines instead of swift-log, for tests.
  @TaskLocal static var printsEmptyAnswers: (@Sendable (String) -> Void)?

  /// Writes to the debug log that a property reads as empty because the object has no context.
  @inline(never)
  final func recordEmptyAnswer(at slot: Int) {
    let name = layout.properties.indices.contains(slot) ? layout.properties[slot].name : "a property"
    let line =
      "\(ValueWords.object(objectID)) has no context, so its '\(name)' reads as empty: the context is gone "
      + "or was reset, or the object was deleted and saved, or never inserted. Hold the context for as long as its "
      + "objects."
    if let print = Self.printsEmptyAnswers { return print(line) }
    Logger(label: "persist.context").debug("\(line)")
  }

  /// Stops the program, which relates other objects to one that was never inserted into a context. They would be lost.
  final func failWithoutContext(at slot: Int) -> Never {
    let name = layout.properties[slot].name
    ProgramStop.failure(
      "'\(name)' of \(ValueWords.object(objectID)) can't contain objects before the object is in a context: insert "
        + "it into one first.")
  }
}
