import Foundation
import PersistCoreDataPass

// Rewrites a target's sources, and generates the classes of its models, for the plugin PersistCoreData: pairs of an
// input and an output.
let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count.isMultiple(of: 2) else {
  FileHandle.standardError.write(Data("usage: PersistCoreDataTool INPUT OUTPUT …\n".utf8))
  exit(2)
}

func source(of input: URL) throws -> String {
  if input.isXcodeModel { return GeneratedClasses(try XcodeModel(contentsOf: input)).source }
  return try String(contentsOf: input, encoding: .utf8)
}

/// Writes an output if its content changes, so that the compiler has nothing to do for the others.
func write(_ text: String, to output: URL) throws {
  let data = Data(text.utf8)
  if let old = try? Data(contentsOf: output), old == data { return }
  try FileManager.default.createDirectory(at: output.deletingLastPathComponent(), withIntermediateDirectories: true)
  try data.write(to: output, options: .atomic)
}

let pairs = stride(from: 0, to: arguments.count, by: 2).map { index in
  (input: URL(fileURLWithPath: arguments[index]), output: URL(fileURLWithPath: arguments[index + 1]))
}
var sources: [(file: String, text: String)] = []
for (input, _) in pairs {
  do {
    sources.append((input.path, try source(of: input)))
  } catch let error as XcodeModel.Unreadable {
    print(error)
    exit(1)
  } catch {
    print("\(input.path):1: error: The source can't be read: \(error.localizedDescription)")
    exit(1)
  }
}
for (pair, pass) in zip(pairs, CoreDataPass.module(sources)) {
  for finding in pass.findings { print(finding.description) }
  do {
    try write(pair.input.isXcodeModel ? pass.text : pass.locatedText, to: pair.output)
  } catch {
    print("\(pair.output.path):1: error: The source can't be written: \(error.localizedDescription)")
    exit(1)
  }
}
