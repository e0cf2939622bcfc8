import Foundation
import PersistCoreDataPass

// Rewrites sources for the plugin PersistCoreData: pairs of an input and an output.
let arguments = CommandLine.arguments.dropFirst()
guard arguments.count % 2 == 0 else {
  FileHandle.standardError.write(Data("usage: PersistCoreDataTool INPUT OUTPUT …\n".utf8))
  exit(2)
}
var rest = arguments
while let input = rest.popFirst(), let output = rest.popFirst() {
  do {
    let source = try String(contentsOfFile: input, encoding: .utf8)
    let pass = CoreDataPass(source, file: input)
    for finding in pass.findings { print(finding.description) }
    let folder = URL(fileURLWithPath: output).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try pass.generatedSource(of: input).write(toFile: output, atomically: true, encoding: .utf8)
  } catch {
    print("\(input):1: error: The source can't be rewritten: \(error.localizedDescription)")
    exit(1)
  }
}
