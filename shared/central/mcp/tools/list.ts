/** The tools that show what a person can see. Every product offers them. */
import type { Tool } from '../tool.ts'
import { explainFindingTool, listFindingsTool } from './findings.ts'
import { getHealthTool, listBuildingsTool, listEquipmentTool, listPointsTool } from './plant.ts'
import { explainRuleTool, listRulesTool } from './rules.ts'
import { getCoverageTool, listRunsTool } from './runs.ts'
import { readSeriesTool } from './series.ts'

export const READ_TOOLS: readonly Tool[] = [
  getHealthTool,
  listBuildingsTool,
  listEquipmentTool,
  listPointsTool,
  readSeriesTool,
  listFindingsTool,
  explainFindingTool,
  listRulesTool,
  explainRuleTool,
  listRunsTool,
  getCoverageTool,
]
