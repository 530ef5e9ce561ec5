"""Flows: what the events of a node tell about it, a column each."""

from oddhop.tables.flows.columns import FlowColumn as FlowColumn
from oddhop.tables.flows.columns import check_names as check_names
from oddhop.tables.flows.columns import flow_columns as flow_columns
from oddhop.tables.flows.columns import flow_values as flow_values
from oddhop.tables.flows.columns import with_flow_columns as with_flow_columns
