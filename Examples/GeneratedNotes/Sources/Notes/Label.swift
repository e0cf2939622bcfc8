import Persist

/// The model leaves this class to the program, Codegen "Category/Extension": its properties alone are generated.
public class Label: ManagedObject {
  var summary: String { "\(name): \(notes.count)" }
}
