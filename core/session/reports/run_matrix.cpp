#include "session/reports/run_matrix.h"

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/many_groups.h"
#include "base/sort_distinct.h"
#include "base/text.h"
#include "ir/graph.h"
#include "planning/patterns/module_paths.h"
#include "session/documents/report_json.h"
#include "session/runs/run_conditions.h"

namespace fusescope {

namespace {

/// Numbers the names of nodes of the file, because sides may have read the file with different extents.
class NodeNumbers {
 public:
  std::uint32_t of(const std::string& name) {
    const auto [entry, isNew] = m_numbers.try_emplace(name, static_cast<std::uint32_t>(m_names.size()));
    if (isNew) m_names.push_back(name);
    return entry->second;
  }
  const std::string& name(std::uint32_t number) const { return m_names[number]; }

 private:
  std::map<std::string, std::uint32_t> m_numbers;
  std::vector<std::string> m_names;
};

SideSets setsOf(const Cover& cover, NodeNumbers& numbers) {
  SideSets sets;
  for (const FusedNode& fused : cover.fusedNodes) {
    std::vector<std::uint32_t> nodes;
    for (const OriginId origin : fused.origins) nodes.push_back(numbers.of(cover.model->origins[origin.index].name));
    sortDistinct(nodes);
    sets.push_back(std::move(nodes));
  }
  return sets;
}

MatrixCell cellOf(const Cover& cover, const ReportTimes& times, const std::vector<std::uint32_t>& fusedNodes) {
  MatrixCell cell;
  std::vector<KnownTime> each;
  for (const std::uint32_t index : fusedNodes) {
    const FusedNode& fused = cover.fusedNodes[index];
    cell.kernels.push_back(fused.name);
    each.push_back(times.of(fused));
    if (fused.compute == DataType::Undefined) continue;
    const std::string type(name(fused.compute));
    if (std::ranges::find(cell.types, type) == cell.types.end()) cell.types.push_back(type);
  }
  cell.time = sumOf(each);
  return cell;
}

/// Returns the innermost module of the first of the nodes.
std::string moduleOf(const Cover& cover, const FusedNode& fused) {
  const std::vector<std::string> paths = modulePaths(*cover.model, cover.graph().node(fused.root));
  if (paths.empty()) return {};
  const std::size_t dot = paths.front().rfind('.');
  return dot == std::string::npos ? std::string() : paths.front().substr(0, dot);
}

MatrixColumn columnOf(const ReportSide& side, const ReportSide& first) {
  MatrixColumn column{.title = side.title, .id = {}, .medianMs = {}, .unlike = {}};
  if (side.run == nullptr) return column;
  column.id = side.run->id;
  if (side.run->time) column.medianMs = side.run->time->medianMs;
  if (first.run != nullptr) column.unlike = unlikeConditions(*first.run, *side.run);
  return column;
}

void addCell(const MatrixCell& cell, MatrixCell& into) {
  const bool first = into.kernels.empty();
  if (cell.kernels.empty()) return;
  into.kernels.insert(into.kernels.end(), cell.kernels.begin(), cell.kernels.end());
  for (const std::string& type : cell.types)
    if (std::ranges::find(into.types, type) == into.types.end()) into.types.push_back(type);
  into.time = first ? cell.time : sumOf({into.time, cell.time});
}

}  // namespace

RunMatrix runMatrix(std::span<const ReportSide> sides) {
  RunMatrix matrix;
  if (sides.empty()) return matrix;
  NodeNumbers numbers;
  std::vector<SideSets> sets;
  std::vector<ReportTimes> times;
  for (const ReportSide& side : sides) {
    matrix.columns.push_back(columnOf(side, sides.front()));
    sets.push_back(setsOf(*side.known.cover, numbers));
    times.emplace_back(side);
  }
  for (const ManyGroup& group : groupManySets(sets)) {
    MatrixRow row;
    std::vector<std::uint32_t> nodes;
    for (std::size_t side = 0; side < sides.size(); ++side) {
      const Cover& cover = *sides[side].known.cover;
      row.cells.push_back(cellOf(cover, times[side], group.sets[side]));
      if (!group.sets[side].empty() && row.name.empty()) {
        row.name = joined(row.cells.back().kernels, " | ");
        row.module = moduleOf(cover, cover.fusedNodes[group.sets[side].front()]);
      }
      for (const std::uint32_t set : group.sets[side])
        nodes.insert(nodes.end(), sets[side][set].begin(), sets[side][set].end());
    }
    sortDistinct(nodes);
    for (const std::uint32_t node : nodes) row.nodes.push_back(numbers.name(node));
    row.same = group.same && std::ranges::all_of(row.cells, [&](const MatrixCell& cell) {
                 return cell.types == row.cells.front().types;
               });
    matrix.rows.push_back(std::move(row));
  }
  return matrix;
}

RunMatrix byModule(const RunMatrix& matrix) {
  RunMatrix modules{.columns = matrix.columns, .rows = {}};
  std::map<std::string, std::size_t> places;
  for (const MatrixRow& row : matrix.rows) {
    if (row.module.empty()) {
      modules.rows.push_back(row);
      continue;
    }
    const auto [place, isNew] = places.try_emplace(row.module, modules.rows.size());
    if (isNew) {
      modules.rows.push_back(row);
      modules.rows.back().name = row.module;
      continue;
    }
    MatrixRow& into = modules.rows[place->second];
    into.same = into.same && row.same;
    into.nodes.insert(into.nodes.end(), row.nodes.begin(), row.nodes.end());
    for (std::size_t side = 0; side < row.cells.size(); ++side) addCell(row.cells[side], into.cells[side]);
  }
  return modules;
}

Json toJson(const RunMatrix& matrix) {
  Json json = {{"format", "fusescope.matrix"}, {"version", 1}, {"columns", Json::array()}, {"rows", Json::array()}};
  for (const MatrixColumn& column : matrix.columns)
    json["columns"].push_back({{"title", column.title},
                               {"run", column.id.empty() ? Json(nullptr) : Json(column.id)},
                               {"median_ms", optionalNumber(column.medianMs)},
                               {"unlike", column.unlike}});
  for (const MatrixRow& row : matrix.rows) {
    Json cells = Json::array();
    for (const MatrixCell& cell : row.cells) {
      Json one = {{"kernels", cell.kernels}, {"types", cell.types}};
      one.update(toJson(cell.time));
      cells.push_back(std::move(one));
    }
    json["rows"].push_back({{"name", row.name},
                            {"module", row.module.empty() ? Json(nullptr) : Json(row.module)},
                            {"nodes", row.nodes},
                            {"same", row.same},
                            {"cells", std::move(cells)}});
  }
  return json;
}

}  // namespace fusescope
