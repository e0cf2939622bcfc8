/// The longest waits in each phase, in milliseconds.
struct RolloutWaits: CustomStringConvertible {
  private struct Phase {
    let name: String
    var write = 0.0
    var read = 0.0
    var count = 0
    var seconds = 0.0
  }

  private var phases: [Phase] = []
  /// The waits of the servers' sessions meanwhile, for each operation of two seconds and more.
  var explanations: [String] = []
  /// The longest time in which the machine stood still, in seconds; no wait contains it.
  var stall = 0.0
  var saves = 0
  var kills = 0
  var rounds = 0

  /// The longest wait apart from those with a failover, in milliseconds.
  var longest: Double {
    phases.filter { !$0.name.hasSuffix("failover") }.map { max($0.write, $0.read) }.max() ?? 0
  }

  private mutating func place(of phase: String) -> Int {
    if let index = phases.firstIndex(where: { $0.name == phase }) { return index }
    phases.append(Phase(name: phase))
    return phases.count - 1
  }

  mutating func addDuration(_ phase: String, _ seconds: Double) {
    phases[place(of: phase)].seconds += seconds
  }

  mutating func add(_ phase: String, _ length: Double, _ isWrite: Bool) {
    let index = place(of: phase)
    if isWrite { phases[index].write = max(phases[index].write, length) } else {
      phases[index].read = max(phases[index].read, length)
    }
    phases[index].count += 1
  }

  mutating func add(_ other: RolloutWaits) {
    (saves, kills, rounds) = (saves + other.saves, kills + other.kills, rounds + other.rounds)
    explanations += other.explanations
    stall = max(stall, other.stall)
    for phase in other.phases {
      let index = place(of: phase.name)
      phases[index].write = max(phases[index].write, phase.write)
      phases[index].read = max(phases[index].read, phase.read)
      phases[index].count += phase.count
      phases[index].seconds += phase.seconds
    }
  }

  var description: String {
    let lines = phases.map { phase in
      let (write, read) = (Int(phase.write.rounded()), Int(phase.read.rounded()))
      return "  \(phase.name), \(Int(phase.seconds.rounded())) s: longest write \(write) ms, read \(read) ms of "
        + "\(phase.count) operations"
    }
    let still = stall > 0 ? ", without the \(Int(stall.rounded())) s in which the machine stood still at most" : ""
    let title = "\(rounds) rounds, \(saves) acknowledged saves, \(kills) kills\(still):"
    return ([title] + lines + explanations.map { "  \($0)" }).joined(separator: "\n")
  }
}
