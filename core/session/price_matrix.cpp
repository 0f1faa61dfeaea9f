#include "session/price_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/disjoint_sets.h"
#include "base/text.h"
#include "diff/network_match.h"
#include "ir/graph.h"
#include "planning/cover_json.h"
#include "session/layer_match.h"

namespace fusescope {
namespace {

using Engines = std::vector<std::pair<std::string, std::shared_ptr<const ReadBackPlan>>>;

Diagnostic refusedEngine(const std::string& file, std::string message, std::string help = {}) {
  return {.message = std::move(message), .where = {.file = file}, .help = std::move(help)};
}

std::optional<double> sumWhere(const ReadBackPlan& made, bool containsNodes) {
  std::optional<double> sum;
  for (const FusedNode& fused : made.fusedNodes)
    if (const auto& ms = made.kernels[fused.id.index].ms; ms && fused.nodes.empty() != containsNodes)
      sum = sum.value_or(0) + *ms;
  return sum;
}

class MatrixBuilder {
 public:
  MatrixBuilder(const Engines& engines, std::vector<DataType> types) : m_engines(engines) {
    m_matrix.types = std::move(types);
  }

  Result<PriceMatrix> run() {
    for (const auto& [file, made] : m_engines) TRY(addColumn(file, *made));
    TRY(checkAlike());
    for (std::size_t i = 0; i < m_engines.size(); ++i) TRY(match(i));
    addRows();
    findTypes();
    for (PriceRow& row : m_matrix.rows) addTypesOf(row);
    const ReadBackPlan& first = *m_engines.front().second;
    addMissing(m_matrix, first.model->path, first.options.target);
    return std::move(m_matrix);
  }

 private:
  Status addColumn(const std::string& file, const ReadBackPlan& made) {
    auto table = enginePrices(made);
    if (!table.ok()) return refusedEngine(file, table.error().message, table.error().help);
    PriceColumn column{.label = file,
                       .origin = table.value().origin,
                       .kernelsMs = sumWhere(made, true),
                       .conversionsMs = sumWhere(made, false)};
    if (made.placement) column.latencyMs = made.placement->latencyMs;
    m_matrix.columns.push_back(std::move(column));
    return Done{};
  }

  /// Times of two devices, or at two sets of extents, cannot be in one table.
  Status checkAlike() {
    std::set<std::string> devices;
    for (std::size_t i = 0; i < m_engines.size(); ++i) {
      if (!areAlike(*m_engines[i].second->model, *m_engines.front().second->model))
        return refusedEngine(m_engines[i].first, "it was built from another network than " + m_engines.front().first,
                             "A table has the layers of one network: give engines that were built from it.");
      if (!haveSameExtents(*m_engines[i].second, *m_engines.front().second))
        return refusedEngine(
            m_engines[i].first, "it was built for other extents than " + m_engines.front().first,
            "Times at other extents are times of other layers: build all engines of a table for the same extents.");
      devices.insert(m_matrix.columns[i].origin.device);
    }
    const bool isUnnamed = devices.erase("") > 0;
    if (devices.size() > 1)
      return refusedEngine(m_engines.front().first,
                           "the engines were measured on several devices: " + joined({devices.begin(), devices.end()}),
                           "Give engines of one device.");
    if (isUnnamed)
      m_matrix.notes.push_back(
          devices.empty() ? "The files do not say on which device the engines were measured."
                          : fmt::format("Not all files say that their engines were measured on {}.", *devices.begin()));
    std::set<std::string> counts;
    for (const PriceColumn& column : m_matrix.columns)
      counts.insert(column.origin.times.substr(0, column.origin.times.find(' ')));
    if (counts.size() > 1)
      m_matrix.notes.push_back(
          "Times are counted in different ways in some files: " + joined({counts.begin(), counts.end()}) + ".");
    return Done{};
  }

  /// Numbers the nodes of an engine's network. A node with a counterpart in the first network gets the number of that
  /// one.
  Status match(std::size_t engine) {
    const ReadBackPlan& made = *m_engines[engine].second;
    const ReadBackPlan& first = *m_engines.front().second;
    std::vector<std::uint32_t>& things = m_things.emplace_back(made.graph().nodeIdLimit(), kNone);
    if (engine == 0) {
      for (const NodeId node : made.graph().order()) things[node.index] = node.index;
      m_count = static_cast<std::uint32_t>(made.graph().nodeIdLimit());
      return Done{};
    }
    if (!areAlike(*first.model, *made.model)) return matchKernels(engine, things);
    const NetworkMatch match = matchNetworks(*first.model, *made.model);
    for (const NodeId node : made.graph().order()) {
      const NodeId inFirst = match.nodeOfA[node.index];
      things[node.index] = inFirst.valid() ? inFirst.index : m_count++;
    }
    return Done{};
  }

  /// Matches kernels if the nodes of the networks cannot be matched, for example because one file is quantised. Kernels
  /// at the same position that write equally much are counterparts.
  Status matchKernels(std::size_t engine, std::vector<std::uint32_t>& things) {
    const ReadBackPlan& made = *m_engines[engine].second;
    const ReadBackPlan& first = *m_engines.front().second;
    for (const NodeId node : made.graph().order()) things[node.index] = m_count++;
    const LayerMatch match = matchLayers(first, made, LayerWords::Structure);
    std::int64_t kernels = 0;
    for (const FusedNode& fused : first.fusedNodes) kernels += fused.nodes.empty() ? 0 : 1;
    if (2 * match.byStructure < kernels)
      return refusedEngine(
          m_engines[engine].first,
          fmt::format("it was built from another network than {}: {} of its {} kernels have a counterpart there",
                      m_engines.front().first, match.byStructure, kernels));
    for (const SetGroup& group : match.groups)
      for (const std::uint32_t kernel : group.b)
        if (!group.a.empty())
          for (const NodeId node : made.fusedNodes[kernel].nodes)
            things[node.index] = first.fusedNodes[group.a.front()].nodes.front().index;
    m_matrix.notes.push_back(
        fmt::format("Kernels of {} were matched with those of {} by their position and by what they write, because the "
                    "nodes of the two files could not be matched.",
                    m_engines[engine].first, m_engines.front().first));
    return Done{};
  }

  /// Kernels of all engines that have nodes in common form a row.
  void addRows() {
    DisjointSets sets(m_count);
    for (std::size_t i = 0; i < m_engines.size(); ++i)
      for (const FusedNode& fused : m_engines[i].second->fusedNodes)
        for (const NodeId node : fused.nodes)
          sets.unite(m_things[i][fused.nodes.front().index], m_things[i][node.index]);
    std::map<std::uint32_t, std::size_t> rowOf;
    for (std::size_t i = 0; i < m_engines.size(); ++i)
      for (const FusedNode& fused : m_engines[i].second->fusedNodes) {
        if (fused.nodes.empty()) continue;
        const auto [entry, isNew] =
            rowOf.try_emplace(sets.find(m_things[i][fused.nodes.front().index]), m_matrix.rows.size());
        if (isNew) m_matrix.rows.emplace_back().cells.resize(m_engines.size());
        addKernel(m_matrix.rows[entry->second], i, fused);
      }
  }

  void addKernel(PriceRow& row, std::size_t engine, const FusedNode& fused) {
    const ReadBackPlan& made = *m_engines[engine].second;
    const Graph& first = m_engines.front().second->graph();
    for (const NodeId node : fused.nodes) {
      const std::uint32_t thing = m_things[engine][node.index];
      const bool isInFirst = thing < first.nodeIdLimit();
      const std::string& name = isInFirst ? first.node(NodeId(thing)).name : made.graph().node(node).name;
      if (std::ranges::find(row.nodes, name) == row.nodes.end()) row.nodes.push_back(name);
    }
    PriceCell& cell = row.cells[engine];
    const auto& ms = made.kernels[fused.id.index].ms;
    if (cell.kernels.empty())
      cell.ms = ms;
    else
      cell.ms = cell.ms && ms ? std::optional(*cell.ms + *ms) : std::nullopt;
    cell.kernels.push_back(fused.name);
    if (fused.compute != DataType::Undefined && std::ranges::find(cell.types, fused.compute) == cell.types.end())
      cell.types.push_back(fused.compute);
  }

  void findTypes() {
    if (!m_matrix.types.empty()) return;
    m_matrix.types = {DataType::F32, DataType::F16};
    for (const PriceRow& row : m_matrix.rows)
      for (const PriceCell& cell : row.cells)
        for (const DataType type : cell.types)
          if (std::ranges::find(m_matrix.types, type) == m_matrix.types.end()) m_matrix.types.push_back(type);
  }

  static void addTypesOf(PriceRow& row) {
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const PriceCell& cell = row.cells[i];
      if (!cell.ms || cell.types.size() != 1) continue;
      const auto known = row.byType.find(cell.types.front());
      if (known == row.byType.end() || *cell.ms < known->second.ms)
        row.byType[cell.types.front()] = {.ms = *cell.ms, .column = i, .kernels = cell.kernels.size()};
    }
  }

  static constexpr std::uint32_t kNone = UINT32_MAX;
  const Engines& m_engines;
  PriceMatrix m_matrix;
  std::vector<std::vector<std::uint32_t>> m_things;  ///< by engine and NodeId
  std::uint32_t m_count = 0;
};

Json typeNamesJson(const std::vector<DataType>& types) {
  return jsonList(types, [](DataType type) { return Json(toText(type)); });
}

Json cellJson(const PriceCell& cell) {
  return {{"ms", jsonOrNull(cell.ms)}, {"types", typeNamesJson(cell.types)}, {"kernels", cell.kernels}};
}

Json rowJson(const PriceRow& row) {
  Json byType = Json::object();
  for (const auto& [type, price] : row.byType)
    byType[toText(type)] = {{"ms", price.ms}, {"engine", price.column}, {"kernels", price.kernels}};
  return {{"nodes", row.nodes},
          {"engines", jsonList(row.cells, cellJson)},
          {"by_type", std::move(byType)},
          {"missing", typeNamesJson(row.missing)}};
}

Json columnJson(const PriceColumn& column) {
  const EnginePriceOrigin& origin = column.origin;
  return {{"file", column.label},
          {"compiler", origin.compiler},
          {"version", origin.version},
          {"device", origin.device.empty() ? Json(nullptr) : Json(origin.device)},
          {"driver", origin.driver.empty() ? Json(nullptr) : Json(origin.driver)},
          {"times", origin.times},
          {"target", origin.target},
          {"kernels_ms", jsonOrNull(column.kernelsMs)},
          {"conversions_ms", jsonOrNull(column.conversionsMs)},
          {"latency_ms", jsonOrNull(column.latencyMs)}};
}

}  // namespace

Result<PriceMatrix> priceMatrix(const Engines& engines, std::vector<DataType> types) {
  if (engines.empty()) return Diagnostic{.message = "no engine was given"};
  return MatrixBuilder(engines, std::move(types)).run();
}

Json toJson(const PriceMatrix& matrix) {
  return {{"format", "fusescope.prices"},
          {"version", 1},
          {"types", typeNamesJson(matrix.types)},
          {"engines", jsonList(matrix.columns, columnJson)},
          {"rows", jsonList(matrix.rows, rowJson)},
          {"builds", jsonList(matrix.builds,
                              [](const EngineBuild& build) {
                                return Json{{"type", toText(build.type)},
                                            {"nodes", build.nodes},
                                            {"commands", build.commands},
                                            {"note", build.note.empty() ? Json(nullptr) : Json(build.note)}};
                              })},
          {"notes", matrix.notes}};
}

}  // namespace fusescope
