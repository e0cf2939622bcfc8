import ArgumentParser
import Foundation

/// Counts single operations while their store grows in one measure.
struct Curves: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Counts the instructions of single operations in stores that grow, under callgrind.")

  @Option(parsing: .upToNextOption, help: "What grows; everything without it.")
  var only: [GrowthCurve.Axis] = []

  @Option(parsing: .upToNextOption, help: "Names of the operations; all without it.")
  var operations: [String] = []

  @Option(help: "The largest size of each measure.")
  var largest: Int?

  @Option(help: "Where to draw the curves, as SVG.")
  var plot: String?

  @Option(help: "The page with the results, whose section is written.")
  var page: String?

  @Option(help: "What the section is to say of versions.")
  var remark: [String] = []

  func run() throws {
    let folder = try Runner.makeFolder("curves")
    defer { try? FileManager.default.removeItem(at: folder) }
    let runner = Runner(rounds: 1, folder: folder)
    var lines: [GrowthCurve.Line] = []
    for axis in GrowthCurve.Axis.allCases where only.isEmpty || only.contains(axis) {
      let sizes = try self.sizes(of: axis, in: folder)
      for curve in GrowthCurve.all
      where curve.axis == axis && (operations.isEmpty || operations.contains(curve.name)) {
        let line = try curve.measure(sizes, by: runner)
        print(CurveTable.row(line))
        lines.append(line)
      }
      runner.forgetTemplates()
    }
    if let plot { try Data(CurvePlot(lines: lines).svg.utf8).write(to: URL(fileURLWithPath: plot)) }
    if let page { try PageSection.curves.write(CurveTable.section(lines, remark), to: URL(fileURLWithPath: page)) }
  }

  /// The sizes for which the disk has space; says which it hasn't.
  private func sizes(of axis: GrowthCurve.Axis, in folder: URL) throws -> [Int] {
    let free = try FileManager.default.attributesOfFileSystem(forPath: folder.path)[.systemFreeSize] as? Int ?? .max
    return axis.sizes.filter { size in
      if let largest, size > largest { return false }
      let isEnough = axis.space(size) + 1 << 30 < free
      if !isEnough { print("Not measured for want of space: \(size) \(axis.summary).") }
      return isEnough
    }
  }
}

extension GrowthCurve.Axis: ExpressibleByArgument {}
