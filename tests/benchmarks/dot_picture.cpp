#include "tests/benchmarks/dot_picture.h"

#include <QProcess>
#include <QStandardPaths>
#include <string>

namespace fusescope {
namespace {

constexpr double kPointsPerInch = 72;
constexpr int kPieces = 4;

std::string inches(double pixels) {
  return QString::number(pixels / kPointsPerInch, 'f', 4).toStdString();
}

void addContent(std::string& text, const LayoutGraph& graph, int container) {
  for (std::size_t c = 0; c < graph.containers.size(); ++c) {
    if (graph.containers[c].parent != container) continue;
    text += "subgraph cluster_" + std::to_string(c) + " {\n";
    addContent(text, graph, static_cast<int>(c));
    text += "}\n";
  }
  for (std::size_t b = 0; b < graph.boxes.size(); ++b)
    if (graph.boxes[b].parent == container)
      text += "b" + std::to_string(b) + " [width=" + inches(graph.boxes[b].width) +
              " height=" + inches(graph.boxes[b].height) + "]\n";
}

std::string textOf(const LayoutGraph& graph) {
  std::string text = "digraph g {\nnode [shape=box fixedsize=true label=\"\"]\nedge [arrowhead=none]\n";
  addContent(text, graph, -1);
  for (const LayoutEdge& edge : graph.edges)
    text += "b" + std::to_string(edge.from) + " -> b" + std::to_string(edge.to) + "\n";
  return text + "}\n";
}

/// "edge TAIL HEAD COUNT X Y …" of dot's plain form.
PlacedEdge edgeOf(const QStringList& words) {
  PlacedEdge edge;
  const int count = words.value(3).toInt();
  for (int i = 0; i < count; ++i)
    edge.points.push_back(
        {words.value(4 + 2 * i).toDouble() * kPointsPerInch, words.value(5 + 2 * i).toDouble() * kPointsPerInch});
  return edge;
}

PlacedPoint between(const PlacedPoint* p, double t) {
  const double s = 1 - t, a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
  return {a * p[0].x + b * p[1].x + c * p[2].x + d * p[3].x, a * p[0].y + b * p[1].y + c * p[2].y + d * p[3].y};
}

}  // namespace

QString dotProgram() {
  return QStandardPaths::findExecutable(QStringLiteral("dot"));
}

std::optional<std::vector<PlacedEdge>> edgesByDot(const QString& dot, const LayoutGraph& graph, int seconds) {
  QProcess process;
  process.start(dot, {QStringLiteral("-Tplain")});
  process.write(QByteArray::fromStdString(textOf(graph)));
  process.closeWriteChannel();
  if (!process.waitForFinished(seconds * 1000) || process.exitCode() != 0) {
    process.kill();
    process.waitForFinished();
    return std::nullopt;
  }
  std::vector<PlacedEdge> edges;
  for (const QString& line : QString::fromUtf8(process.readAllStandardOutput()).split('\n'))
    if (line.startsWith(QLatin1String("edge "))) edges.push_back(edgeOf(line.split(' ')));
  if (edges.size() != graph.edges.size()) return std::nullopt;
  return edges;
}

std::vector<PlacedEdge> inPieces(const std::vector<PlacedEdge>& edges) {
  std::vector<PlacedEdge> pieces;
  for (const PlacedEdge& edge : edges) {
    PlacedEdge& straight = pieces.emplace_back();
    if (edge.points.empty()) continue;
    straight.points.push_back(edge.points.front());
    for (std::size_t i = 0; i + 3 < edge.points.size(); i += 3)
      for (int piece = 1; piece <= kPieces; ++piece) {
        const PlacedPoint end = between(&edge.points[i], static_cast<double>(piece) / kPieces);
        straight.points.insert(straight.points.end(), {end, end, end});
      }
  }
  return pieces;
}

}  // namespace fusescope
