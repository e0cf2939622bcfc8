import Foundation

/// Rewrites what Swift can't compile without Objective-C in a source that uses Core Data.
///
/// Every line stays a line, so that errors and breakpoints keep their places.
package struct CoreDataPass {
  /// A part that stays in a source and isn't covered.
  package struct Finding: Hashable {
    package let file: String
    package let line: Int
    package let problem: UncoveredPart

    package var description: String { "\(file):\(line): warning: \(problem.message)" }
  }

  package let file: String
  package let text: String
  package let findings: [Finding]
  /// The number of edits that were made.
  package let editCount: Int

  /// Rewrites a source that no other depends on.
  package init(_ source: String, file: String) {
    var editor = SourceEditor(source, file: file)
    editor.run()
    editor.complete(with: editor.dispatches)
    self.init(editor)
  }

  private init(_ editor: SourceEditor) {
    file = editor.file
    text = editor.editedText
    findings = editor.findings.sorted { $0.line < $1.line }
    editCount = editor.edits.count
  }

  /// Rewrites the sources of a module, whose classes may be extended in other files than their own.
  package static func module(_ sources: [(file: String, text: String)]) -> [CoreDataPass] {
    var editors = sources.map { SourceEditor($0.text, file: $0.file) }
    var dispatches = ManagedDispatches()
    for index in editors.indices {
      editors[index].run()
      dispatches.merge(editors[index].dispatches)
    }
    for index in editors.indices { editors[index].complete(with: dispatches) }
    return editors.map { CoreDataPass($0) }
  }

  /// The text as a source of its own, whose errors name the original file.
  package var locatedText: String {
    let path = file.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
    return "#sourceLocation(file: \"\(path)\", line: 1)\n\(text)"
  }
}
