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

  package let text: String
  package let findings: [Finding]
  /// The number of edits that were made.
  package let editCount: Int

  package init(_ source: String, file: String) {
    var editor = SourceEditor(source, file: file)
    editor.run()
    text = editor.editedText
    findings = editor.findings
    editCount = editor.edits.count
  }

  /// The text as a source of its own, whose errors name the original file.
  package func generatedSource(of file: String) -> String {
    let path = file.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
    return "#sourceLocation(file: \"\(path)\", line: 1)\n\(text)"
  }
}
